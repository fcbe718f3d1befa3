// Where things are, and which native files exist: shared by the scripts beside this file.
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
export const native = join(root, 'native');
export const nodeAddonApi = dirname(
  createRequire(import.meta.url).resolve('node-addon-api/package.json'),
);

/** Paths, relative to native/, of the files in `folder` that end in one of `suffixes`. */
export function nativeFiles(folder, suffixes) {
  const base = join(native, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && suffixes.some((suffix) => entry.name.endsWith(suffix)))
    .map((entry) => join(entry.parentPath, entry.name).slice(native.length + 1))
    .filter((path) => !/(^|\/)build(-[^/]*)?\//.test(path))
    .sort();
}

/** The prefix of a Node installation with headers; node-gyp without one would download them. */
export function findNodeDir() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  const candidates = [process.env.npm_config_nodedir, prefix, '/usr', '/usr/local'];
  const has = (dir, name) => existsSync(join(dir, 'include/node', name));
  const found = candidates.find((dir) => dir && has(dir, 'node_api.h') && has(dir, 'common.gypi'));
  if (found) return found;
  throw new Error(
    `No Node headers found: looked for include/node/node_api.h and common.gypi under ${candidates
      .filter(Boolean)
      .join(', ')}. Set npm's nodedir to the prefix of a Node installation that has them.`,
  );
}

/** node-gyp's own script: the one that npm names to its children, or the one inside npm on PATH. */
export function findNodeGyp() {
  const inNpm = 'node_modules/node-gyp/bin/node-gyp.js';
  const candidates = [process.env.npm_config_node_gyp];
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const npm = join(dir, 'npm');
    if (existsSync(npm)) candidates.push(join(dirname(dirname(realpathSync(npm))), inNpm));
  }
  const found = candidates.find((path) => path && existsSync(path));
  if (found) return found;
  throw new Error('node-gyp not found. It comes with npm: run this through `npm run`.');
}
