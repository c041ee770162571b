// Light or dark: by the system, or by choice.
import { signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const stored = 'latchkey-theme';
export const theme = signal<Theme>((localStorage.getItem(stored) as Theme | null) ?? 'auto');

export function applyTheme(): void {
  if (theme.value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  localStorage.setItem(stored, next);
  applyTheme();
}
