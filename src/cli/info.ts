// `queuepair info`: what there is, and whether an engine opens here.
import {
  type EngineProvider,
  listProviders,
  openEngine,
  type ProviderInfo,
  RdmaError,
} from '../api/index.js';
import { type Machine, readMachine } from './machine.js';
import { printReport } from './print-report.js';

export interface InfoReport {
  readonly queuepair: string;
  readonly machine: Machine;
  readonly providers: readonly ProviderInfo[];
  /** What `auto` picks; `undefined` when no engine opens. */
  readonly chosen: EngineProvider | undefined;
  /** Why no engine opens. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** Prints the report; returns the exit code: 0 when an engine opens. */
export async function info(version: string, asJson: boolean): Promise<number> {
  const report: InfoReport = {
    queuepair: version,
    machine: readMachine(),
    providers: await listProviders(),
    ...(await tryToOpen()),
  };
  if (asJson) console.log(JSON.stringify(report, null, 2));
  else printReport(report);
  if (report.error === undefined) return 0;
  if (!asJson) console.error(`queuepair: ${report.error.code}: ${report.error.message}`);
  return 1;
}

/** Opens an engine for real: what is there may still not work. */
async function tryToOpen(): Promise<Pick<InfoReport, 'chosen' | 'error'>> {
  try {
    const engine = await openEngine();
    const { name, reason } = engine.provider;
    await engine.close();
    return { chosen: { name, reason }, error: undefined };
  } catch (error) {
    if (!(error instanceof RdmaError)) throw error;
    return { chosen: undefined, error: { code: error.code, message: error.message } };
  }
}
