import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<{ key: string }>();

/** Runs work whose queries wait for connections as those of `key`: where several keys wait, they take turns. */
export function inShareOf<T>(key: string, work: () => T): T {
  return current.run({ key }, work);
}

/** From now on the queries of this work wait as those of another key. */
export function moveToShareOf(key: string): void {
  const share = current.getStore();
  if (share) share.key = key;
}

/** For whom this is done; what is done for nobody has a share of its own. */
export function shareKey(): string {
  return current.getStore()?.key ?? '';
}
