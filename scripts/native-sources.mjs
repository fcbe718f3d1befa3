// Prints, for a binding.gyp, the C++ files of the named folders of native/, so that a new file needs no entry.
import { nativeFiles } from './paths.mjs';

for (const folder of process.argv.slice(2)) {
  for (const path of nativeFiles(folder, ['.cc'])) console.log(path);
}
