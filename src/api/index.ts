/// <reference types="node" preserve="true" />
// The whole public surface. Classes are exported as types: openEngine() and what it returns make them.
export type { Address, Peer } from '../engine/address.js';
export type { CloseReason, ConnectionState } from '../engine/connection-core.js';
export type {
  AcceptOptions,
  CloseOptions,
  ConnectOptions,
  EngineOptions,
  ListenOptions,
  MemoryOptions,
  RejectOptions,
} from '../engine/engine-options.js';
export type { RdmaErrorCode } from '../engine/errors.js';
export { AbortError, RdmaError } from '../engine/errors.js';
export type { PollingMode } from '../engine/layout.js';
export type { Access, MemoryRegion, MemorySlice } from '../engine/memory-region.js';
export type {
  OperationOptions,
  PostRequest,
  ReceiveRequest,
  SendOptions,
  SendRequest,
} from '../engine/operation-options.js';
export type { PrivateDataFormat } from '../engine/private-data.js';
export type { ReceiveTarget, SendSource } from '../engine/segments.js';
export type { EngineStats } from '../engine/stats.js';
export type { CompletionStatus } from '../engine/status.js';
export type { OperationName, WorkCompletion } from '../engine/work-completion.js';
export type { Connection } from './connection.js';
export type { ConnectionRequest } from './connection-request.js';
export type { StateChange } from './connection-states.js';
export type { Engine, EngineProvider } from './engine.js';
export type { AdapterInfo, Capabilities, Limits, ProviderInfo } from './list-providers.js';
export { listProviders } from './list-providers.js';
export type { Listener } from './listener.js';
export { openEngine } from './open-engine.js';
