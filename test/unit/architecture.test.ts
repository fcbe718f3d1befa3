import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Edge {
  readonly from: string;
  readonly to: string;
}

function filesUnder(folder: string, pattern: RegExp): string[] {
  const base = join(root, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => pattern.test(path) && !/\/build(-[^/]*)?\//.test(path))
    .sort();
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function edges(files: readonly string[], pattern: RegExp): Edge[] {
  return files.flatMap((from) =>
    [...read(from).matchAll(pattern)].map((match) => ({ from, to: match[1] ?? '' })),
  );
}

const show = (list: readonly Edge[]): string[] => list.map(({ from, to }) => `${from} → ${to}`);

describe('src', () => {
  // Static imports, re-exports, dynamic imports, and the URLs that workers are started from.
  const specifier = /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)['"]([^'"]+)['"]/g;
  const files = filesUnder('src', /\.ts$/);
  const imports = edges(files, specifier).map(({ from, to }) => ({
    from,
    to: to.startsWith('.') ? normalize(join(dirname(from), to)) : to,
  }));

  const mayImport: Record<string, readonly string[]> = {
    'src/engine': ['src/engine'],
    'src/workers': ['src/workers', 'src/engine'],
    'src/api': ['src/api', 'src/workers', 'src/engine'],
    'src/cli': ['src/cli', 'src/api'],
  };
  const mayUse: Record<string, readonly string[]> = {
    rxjs: ['src/api', 'src/cli'],
    piscina: ['src/workers'],
    commander: ['src/cli'],
    'cli-table3': ['src/cli'],
  };
  const layerOf = (path: string): string => path.split('/').slice(0, 2).join('/');

  it('has no other folders than the known layers', () => {
    expect(files.filter((path) => mayImport[layerOf(path)] === undefined)).toEqual([]);
  });

  it('imports nothing upward', () => {
    const upward = imports.filter(
      ({ from, to }) => to.startsWith('src/') && !mayImport[layerOf(from)]?.includes(layerOf(to)),
    );
    expect(show(upward)).toEqual([]);
  });

  it('uses each package only in its layer', () => {
    const foreign = imports.filter(({ from, to }) => {
      if (to.startsWith('src/') || to.startsWith('node:') || to.startsWith('../')) return false;
      const packageName = to.split('/')[0] ?? '';
      return !mayUse[packageName]?.includes(layerOf(from));
    });
    expect(show(foreign)).toEqual([]);
  });

  it('loads the addon in one file', () => {
    const loaders = files.filter((path) => /createRequire|process\.dlopen/.test(read(path)));
    expect(loaders.filter((path) => path !== 'src/engine/native.ts')).toEqual([]);
  });
});

describe('native', () => {
  const include = /^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm;
  const includes = edges(filesUnder('native', /\.(h|cc)$/), include);
  const within = (folder: string) => (edge: Edge) => edge.from.startsWith(`native/${folder}/`);
  const nodeHeader = /^(napi|node_api|js_native_api|node|uv|v8)([-_][a-z_]+)?\.h$|^(uv|v8)\//;

  it('has Node headers in binding/ only', () => {
    const allowed = ['native/binding/', 'native/test/probe/'];
    const wrong = includes.filter(
      ({ from, to }) => nodeHeader.test(to) && !allowed.some((folder) => from.startsWith(folder)),
    );
    expect(show(wrong)).toEqual([]);
  });

  it('keeps core/ free of binding/ and of tests', () => {
    const wrong = includes.filter(within('core')).filter(({ to }) => /^(binding|test)\//.test(to));
    expect(show(wrong)).toEqual([]);
  });

  it('includes its own headers from the root of native/', () => {
    const wrong = includes.filter(
      ({ to }) => to.startsWith('.') || existsSync(join(root, 'native/core', to)),
    );
    expect(show(wrong)).toEqual([]);
  });

  it("has a provider's headers in its folder, the registry and tests only", () => {
    const wrong = includes.filter(({ from, to }) => {
      const folder = /^core\/providers\/[^/]+\//.exec(to)?.[0];
      if (folder === undefined || from === 'native/core/providers/registry.cc') return false;
      return !from.startsWith(`native/${folder}`) && !from.startsWith('native/test/');
    });
    expect(show(wrong)).toEqual([]);
  });

  it('has foreign libraries behind one folder each', () => {
    const homes: readonly (readonly [RegExp, string])[] = [
      [/^(infiniband\/|rdma\/rdma_)/, 'core/providers/verbs'],
      [/^rdma\/fi_|^rdma\/fabric\.h/, 'core/providers/libfabric'],
      [/^(cuda|cuda_runtime.*)\.h$/, 'core/cuda'],
    ];
    const wrong = includes.filter((edge) =>
      homes.some(([header, home]) => header.test(edge.to) && !within(home)(edge)),
    );
    expect(show(wrong)).toEqual([]);
  });

  it('names every test so that the runner finds it', () => {
    const lost = filesUnder('native/test', /\.cc$/).filter(
      (path) =>
        dirname(path) === 'native/test' && /\bTEST\(/.test(read(path)) && !/_test\.cc$/.test(path),
    );
    expect(lost.map((path) => basename(path))).toEqual([]);
  });
});
