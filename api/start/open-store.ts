import type { Logger } from 'pino';
import { createStorage } from '../../adapters/storage/create-storage.ts';
import { LocalStorage } from '../../adapters/storage/local.ts';
import type { Storage } from '../../adapters/storage/port.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { checkStoreOwner } from '../../domain/stored-objects/store-owner.ts';

/** A request that waits for the bucket must end within three seconds. */
const storageTimeoutMs = 2_500;
const tidyIntervalMs = 60_000;

interface Store {
  storage: Storage;
  /** The local driver, whose upload routes the API serves; undefined with a bucket. */
  local: LocalStorage | undefined;
  stopTidying(): void;
}

/** Opens the store of documents. Throws WrongStore if a directory belongs to another database. */
export async function openStore(config: ServerConfig, { db, now, log }: { db: Db; now: () => Date; log: Logger }): Promise<Store> {
  const storage = await createStorage(config, { now, timeoutMs: storageTimeoutMs });
  if (!(storage instanceof LocalStorage)) return { storage, local: undefined, stopTidying: () => {} };
  await checkStoreOwner(db, storage);
  const tidying = tidyUploads(storage, log);
  return { storage, local: storage, stopTidying: () => clearInterval(tidying) };
}

/** Removes unfinished uploads of killed processes, now and every minute. */
function tidyUploads(local: LocalStorage, log: Logger): NodeJS.Timeout {
  const tidy = () => void local.removeAbandoned().catch((err: unknown) => log.warn({ err }, 'left-overs of uploads could not be removed'));
  tidy();
  return setInterval(tidy, tidyIntervalMs).unref();
}
