import { inSpan } from '../../base/telemetry/spans.ts';
import type { Storage } from './port.ts';

/** The same store, with a span for each call that is part of a trace, without its key and its signed link. */
export function traceStorage(storage: Storage): Storage {
  const traced = <T>(operation: string, call: () => Promise<T>) =>
    inSpan(`storage ${operation}`, { kind: 'client', attributes: { 'sheaf.storage.driver': storage.driver } }, call);
  return {
    driver: storage.driver,
    location: storage.location,
    signUpload: (input) => traced('signUpload', () => storage.signUpload(input)),
    signDownload: (input) => traced('signDownload', () => storage.signDownload(input)),
    stat: (key) => traced('stat', () => storage.stat(key)),
    read: (key) => traced('read', () => storage.read(key)),
    write: (key, source) => traced('write', () => storage.write(key, source)),
    delete: (key) => traced('delete', () => storage.delete(key)),
    deleteIfLarger: (key, maxBytes) => traced('deleteIfLarger', () => storage.deleteIfLarger(key, maxBytes)),
    deleteMany: (keys) => storage.deleteMany(keys),
    list: (prefix, from) => storage.list(prefix, from),
    owner: () => traced('owner', () => storage.owner()),
    claim: (deployment) => traced('claim', () => storage.claim(deployment)),
  };
}
