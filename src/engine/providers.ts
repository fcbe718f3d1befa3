// Which providers there are, and the choice among them.
import { RdmaError } from './errors.js';
import { loadAddon, type NativeAddon, type NativeProviderReport } from './native.js';

/** The addon, or an error that says why there is none. */
export function requireAddon(): NativeAddon {
  const { addon, attempts } = loadAddon();
  if (addon !== undefined) return addon;
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') {
    throw new RdmaError(
      'ERR_RDMA_UNSUPPORTED_PLATFORM',
      `queuepair has no native code for ${platform}. Run it on Linux.`,
    );
  }
  throw new RdmaError(
    'ERR_RDMA_ADDON_LOAD',
    `The native code for ${platform} cannot be loaded. Tried ${attempts.join('; ')}. ` +
      'In a checkout, run `npm run build`; else reinstall the package.',
  );
}

export interface ChosenProvider {
  readonly name: string;
  /** Why this one. */
  readonly reason: string;
}

/** Throws ERR_RDMA_NO_DEVICE, with every provider's reasons. */
export function chooseProvider(
  reports: readonly NativeProviderReport[],
  wanted: string,
): ChosenProvider {
  if (wanted === 'auto') return chooseAutomatically(reports);
  const report = reports.find((candidate) => candidate.name === wanted);
  if (report === undefined) {
    const names = reports.map((candidate) => `'${candidate.name}'`).join(', ');
    throw new RdmaError(
      'ERR_RDMA_INVALID_ARG',
      `openEngine: there is no provider '${wanted}'. Use 'auto', or one of ${names}.`,
      { operation: 'openEngine' },
    );
  }
  if (report.available) return { name: report.name, reason: 'It was asked for.' };
  throw new RdmaError(
    'ERR_RDMA_NO_DEVICE',
    `openEngine: provider '${wanted}' is not available: ${report.reasons.join(' ')} ` +
      'See listProviders() for the others.',
    { operation: 'openEngine' },
  );
}

function chooseAutomatically(reports: readonly NativeProviderReport[]): ChosenProvider {
  const passed: string[] = [];
  for (const { name, available, reasons } of reports) {
    if (available) {
      const reason = [`'${name}' is the first provider that is available.`, ...passed].join(' ');
      return { name, reason };
    }
    passed.push(`'${name}' is not: ${reasons.join(' ')}`);
  }
  throw new RdmaError(
    'ERR_RDMA_NO_DEVICE',
    `openEngine: no provider is available. ${passed.join(' ')} Install what one of them needs.`,
    { operation: 'openEngine' },
  );
}
