{
  'includes': ['flags.gypi'],
  'targets': [
    {
      'target_name': 'queuepair',
      'sources': ['<!@(node ../scripts/native-sources.mjs core binding)'],
      'include_dirs': ['.'],
    },
  ],
}
