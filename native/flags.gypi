# Flags of everything that becomes a .node file. native/test/Makefile repeats the language and warning flags.
{
  'variables': {
    'node_addon_api%': "<!(node -p \"require('node:path').dirname(require.resolve('node-addon-api/package.json'))\")",
  },
  'target_defaults': {
    'defines': [
      'NAPI_VERSION=9',
      'NAPI_DISABLE_CPP_EXCEPTIONS',
      # A worker that is being terminated can't be thrown into; without this node-addon-api aborts the process.
      'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
    ],
    'cflags_cc!': ['-std=gnu++17', '-std=gnu++20'],
    'cflags_cc': [
      '-std=c++20',
      '-fno-exceptions',
      '-fno-rtti',
      '-fvisibility=hidden',
      '-Wall',
      '-Wextra',
      '-Wshadow',
      '-Wconversion',
      '-Werror',
      # A system include, so that its warnings are not ours.
      '-isystem', '<(node_addon_api)',
    ],
    'cflags!': ['-Wno-unused-parameter'],
    'ldflags': [
      # Threads of ours may still be inside when a worker's environment unloads the addon.
      '-Wl,-z,nodelete',
      # Our own symbols, even where the process has others of the same name.
      '-Wl,-Bsymbolic',
    ],
    'configurations': {
      'Release': { 'cflags!': ['-O3'], 'cflags': ['-O2'] },
      'Debug': { 'defines': ['NODE_ADDON_API_ENABLE_TYPE_CHECK_ON_AS'] },
    },
  },
}
