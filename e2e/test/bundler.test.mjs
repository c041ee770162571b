// The plugin that puts the key of a Latchkey into pages, with each bundler.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';

import * as latchkey from '../../packages/latchkey-bundler/index.js';

const require = createRequire(import.meta.url);
const publicKey = `04${'5a'.repeat(64)}`;
const builtIn = /046b4f88[0-9a-f]{122}/;

// Each builds an entry into a folder, and rejects if the build fails.
const bundlers = {
  esbuild: (entry, outdir, plugins) =>
    esbuild({ entryPoints: [entry], outdir, bundle: true, format: 'esm', minify: true, logLevel: 'silent', plugins }),
  vite: (entry, outDir, plugins) =>
    vite({
      configFile: false,
      root: outDir,
      logLevel: 'silent',
      plugins,
      build: { outDir: join(outDir, 'out'), lib: { entry, formats: ['es'], fileName: 'page' } },
    }),
  webpack: (entry, path, plugins) =>
    new Promise((resolve, reject) => {
      const config = { mode: 'none', entry, output: { path }, plugins };
      require('webpack')(config, (error, stats) => {
        if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString({ all: false, errors: true })));
        else resolve();
      });
    }),
};

describe('latchkey-bundler', () => {
  let folder;
  before(() => {
    // Beside the packages that the pages import.
    folder = mkdtempSync(fileURLToPath(new URL('../.bundler-', import.meta.url)));
    writeFileSync(join(folder, 'page.js'), "import { encryptOtpCodeToBundle } from '@turnkey/crypto';\nglobalThis.seal = encryptOtpCodeToBundle;\n");
    writeFileSync(join(folder, 'other.js'), 'globalThis.nothing = 1;\n');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, build] of Object.entries(bundlers)) {
    it(`replaces the key with ${name}`, async () => {
      const out = join(folder, name);
      await build(join(folder, 'page.js'), out, [latchkey[name]({ publicKey: publicKey.toUpperCase() })]);
      const files = readdirSync(out, { recursive: true }).filter((file) => /\.m?js$/.test(file));
      const text = files.map((file) => readFileSync(join(out, file), 'utf8')).join('\n');
      assert.ok(text.includes(publicKey), 'the key is not in the page');
      assert.doesNotMatch(text, builtIn);
    });

    it(`fails with ${name} where there is no key to replace`, async () => {
      await assert.rejects(build(join(folder, 'other.js'), join(folder, `${name}-other`), [latchkey[name]({ publicKey })]), /was not found in this build/);
    });

    it(`refuses what is no key, with ${name}`, () => {
      for (const wrong of [undefined, {}, { publicKey: '' }, { publicKey: '02ab' }, { publicKey: `${publicKey}00` }]) {
        assert.throws(() => latchkey[name](wrong), /publicKey must be/);
      }
    });
  }
});
