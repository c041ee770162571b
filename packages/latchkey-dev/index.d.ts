export interface Options {
  /**
   * A text from which the organization, its ids and the keys are made: the same ones
   * each time. Everyone who knows it knows the keys.
   */
  seed?: string;
  /** A folder that stays. Without one the server has a new folder, and removes it. */
  data?: string;
  /** HOST:PORT; 127.0.0.1 and a free port unless given. */
  listen?: string;
  /** sqlite:PATH or postgres://…; SQLite in the folder unless given. */
  store?: string;
  /** Further environment variables of the server. */
  env?: Record<string, string>;
  /** Is called with what the server logs. */
  onLog?: (text: string) => void;
}

/** What `latchkey dev` writes to dev.json and the files beside it. */
export interface Latchkey {
  /** The address of the server, for the `apiBaseUrl` of a client. */
  baseUrl: string;
  organizationId: string;
  /** The root user, whose key is the one here. */
  userId: string;
  apiPublicKey: string;
  apiPrivateKey: string;
  signerPublicKey: string;
  sessionPublicKey: string;
  authProxyUrl: string;
  authProxyConfigId: string;
  /** The addresses of the frames. */
  frames: { auth: string; export: string; import: string; exportAndSign: string };
  /** The folder of the server. */
  data: string;
  /** The folder to which mail and SMS are written. */
  outbox: string;
  pid: number;
  /** Ends the server, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** Starts a server and resolves when it is ready. It ends with this process at the latest. */
export function startLatchkey(options?: Options): Promise<Latchkey>;
