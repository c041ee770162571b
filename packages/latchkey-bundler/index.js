// Puts the key of a Latchkey in the place of the one that @turnkey/crypto encrypts
// one-time codes for. The two are equally long, so that nothing else in a file
// moves and source maps stay right.
import { readFile } from 'node:fs/promises';

const name = 'latchkey-bundler';

// PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY of @turnkey/crypto.
const builtIn =
  '046b4f88421f76b6ba418afc2ea1d8ced671337d7db6b80478a60d8531bf8f17fa9a512f0fef96fc0c9b4cd9dff70b34992e520ce04c79d931f6ff6296b547d201';

const missing =
  `${name}: the key that @turnkey/crypto has built in was not found in this build. Either the page does not use ` +
  '@turnkey/crypto, directly or through @turnkey/core or a kit, and needs no plugin; or this version of it has another ' +
  'key: use a version of the plugin that knows it. Codes would be encrypted for the wrong server.';

function keyOf(options) {
  const key = options?.publicKey;
  if (typeof key !== 'string' || !/^04[0-9a-f]{128}$/i.test(key)) {
    throw new Error(
      `${name}: publicKey must be the installation's signerPublicKey, 130 hex digits that begin with 04; ` +
        'see /.well-known/latchkey.json of the server',
    );
  }
  return key.toLowerCase();
}

// A plugin of Rollup's kind, which Vite and Rolldown take too.
function replacing(key, found) {
  return {
    name,
    transform(code) {
      if (!code.includes(builtIn)) return null;
      found();
      return { code: code.replaceAll(builtIn, key), map: null };
    },
  };
}

export function vite(options) {
  const key = keyOf(options);
  let seen = false;
  return {
    ...replacing(key, () => (seen = true)),
    enforce: 'pre',
    // What the development server bundles beforehand does not pass the plugins of
    // the page.
    config() {
      return this.meta?.rolldownVersion
        ? { optimizeDeps: { rolldownOptions: { plugins: [replacing(key, () => {})] } } }
        : { optimizeDeps: { esbuildOptions: { plugins: [loading(key, () => {})] } } };
    },
    buildStart() {
      seen = false;
    },
    generateBundle() {
      if (!seen) this.error(missing);
    },
  };
}

export function webpack(options) {
  const key = keyOf(options);
  return {
    apply(compiler) {
      const { Compilation, sources } = compiler.webpack;
      compiler.hooks.thisCompilation.tap(name, (compilation) => {
        // Before names are made of hashes and maps of sources.
        const stage = Compilation.PROCESS_ASSETS_STAGE_PRE_PROCESS;
        compilation.hooks.processAssets.tap({ name, stage }, (assets) => {
          let seen = false;
          for (const [file, asset] of Object.entries(assets)) {
            const text = String(asset.source());
            if (!text.includes(builtIn)) continue;
            seen = true;
            const replaced = new sources.ReplaceSource(asset);
            for (let at = text.indexOf(builtIn); at >= 0; at = text.indexOf(builtIn, at + 1)) {
              replaced.replace(at, at + builtIn.length - 1, key);
            }
            compilation.updateAsset(file, replaced);
          }
          if (!seen) compilation.errors.push(new compiler.webpack.WebpackError(missing));
        });
      });
    },
  };
}

function loading(key, found) {
  return {
    name,
    setup(build) {
      build.onLoad({ filter: /[\\/]@turnkey[\\/]crypto[\\/].*\.[cm]?js$/ }, async ({ path }) => {
        const code = await readFile(path, 'utf8');
        if (!code.includes(builtIn)) return undefined;
        found();
        return { contents: code.replaceAll(builtIn, key), loader: 'js' };
      });
    },
  };
}

export function esbuild(options) {
  const key = keyOf(options);
  let seen = false;
  const load = loading(key, () => (seen = true));
  return {
    name,
    setup(build) {
      build.onStart(() => {
        seen = false;
      });
      load.setup(build);
      build.onEnd(() => (seen ? undefined : { errors: [{ text: missing }] }));
    },
  };
}
