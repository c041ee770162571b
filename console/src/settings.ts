// What the server says to its pages, in their head.
interface Settings {
  rpId?: string;
  idleSeconds: number;
  // Set while the server is sealed: whether shares are handed in here, or why not.
  sealed?: 'taken' | 'off' | 'insecure';
}

const content = document.querySelector('meta[name=latchkey-settings]')?.getAttribute('content') ?? '{}';
export const settings: Settings = { idleSeconds: 900, ...(JSON.parse(content) as Partial<Settings>) };
