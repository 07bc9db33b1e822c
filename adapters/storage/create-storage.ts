import { join } from 'node:path';
import { deriveKeys } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import type { BucketStorage } from './bucket.ts';
import { LocalStorage } from './local.ts';
import type { S3Storage } from './s3.ts';

/**
 * Creates the store that the configuration names, without network access. `now` is the clock by which links are signed, the same in all
 * processes; `timeoutMs` bounds each request to a bucket.
 */
export async function createStorage(
  { storage, ...config }: Pick<ServerConfig, 'storage' | 'dataDir' | 'apiUrl' | 'authSecret'>,
  { now, timeoutMs }: { now?: () => Date; timeoutMs?: number } = {},
): Promise<LocalStorage | BucketStorage | S3Storage> {
  // The libraries of clouds are large: only the one that is used is loaded.
  if (storage.driver === 'bucket') return new (await import('./bucket.ts')).BucketStorage({ ...storage, timeoutMs, now });
  if (storage.driver === 's3') return new (await import('./s3.ts')).S3Storage({ ...storage, timeoutMs, now });
  return new LocalStorage({
    directory: join(config.dataDir, 'objects'),
    publicUrl: config.apiUrl,
    secrets: deriveKeys(config, 'signed-url'),
    ...(now ? { now } : {}),
  });
}
