{
  'includes': ['../../flags.gypi'],
  'targets': [{ 'target_name': 'probe', 'sources': ['probe.cc'] }],
}
