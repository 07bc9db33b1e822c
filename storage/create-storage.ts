import { join } from 'node:path';
import { deriveKey } from '../config/keys.ts';
import type { ServerConfig } from '../config/server.ts';
import { BucketStorage } from './bucket.ts';
import { LocalStorage } from './local.ts';

/** The store that the configuration names: a bucket if there is one, else files under DATA_DIR. Accesses neither network nor disk. `now` is a clock that all processes share, for the expiry of links; `timeoutMs` bounds each request to a bucket. */
export function createStorage(
  config: Pick<ServerConfig, 'storage' | 'dataDir' | 'apiUrl' | 'authSecret'>,
  { now, timeoutMs }: { now?: () => Date; timeoutMs?: number } = {},
): LocalStorage | BucketStorage {
  const { bucket, apiEndpoint, maxUploadBytes } = config.storage;
  if (bucket !== undefined) return new BucketStorage({ bucket, apiEndpoint, maxUploadBytes, timeoutMs });
  return new LocalStorage({
    directory: join(config.dataDir, 'objects'),
    publicUrl: config.apiUrl,
    secret: deriveKey(config.authSecret, 'signed-url'),
    ...(now ? { now } : {}),
  });
}
