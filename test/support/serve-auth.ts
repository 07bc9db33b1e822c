import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { type MountOptions, mountAuth } from '../../auth/mount.ts';

/** Serves a handler that stands in for better-auth, with nothing that waits unless `options` say so. */
export async function serveAuth(handler: () => Promise<Response>, options: Partial<MountOptions>): Promise<{ url: string; stop(): void }> {
  const usual: Partial<MountOptions> = {
    auth: { handler } as never,
    config: {
      apiUrl: 'http://localhost',
      trustedOrigins: [] as string[],
      authSecret: 'a secret of 32 characters or more',
      billing: { enabled: false },
    } as never,
    log: pino({ level: 'silent' }),
    clientAddress: () => '203.0.113.1',
    admitBody: async () => () => {},
    beginRead: async () => {},
    beginWrite: async () => () => {},
  };
  const server = createServer(express().use(mountAuth({ ...usual, ...options } as MountOptions))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/auth`;
  return {
    url,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
