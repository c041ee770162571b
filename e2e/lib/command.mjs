// Runs commands of this repository that stand in for the outside world in tests.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

// startCommand builds and runs the command of a package, unless it is in the
// folder COMMANDS already. Such a command says in a line of JSON on stdout that
// it is ready, and ends when stdin is closed, so that it cannot outlive this
// process.
export async function startCommand(pkg, ...args) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-command-'));
  try {
    let program = join(folder, 'command');
    if (process.env.COMMANDS) program = join(process.env.COMMANDS, basename(pkg));
    else execFileSync('go', ['build', '-buildvcs=false', '-o', program, pkg], { cwd: repository, stdio: 'pipe' });
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    const [line] = await Promise.race([
      once(lines, 'line'),
      exited.then(() => Promise.reject(new Error(`${pkg} ended at once`))),
    ]);
    return {
      ready: JSON.parse(line),
      async stop() {
        child.stdin.end();
        await exited;
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
