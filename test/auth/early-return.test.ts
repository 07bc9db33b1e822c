import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { pino } from 'pino';
import { type MountOptions, mountAuth } from '../../auth/mount.ts';
import type { Caller } from '../../auth/session.ts';

describe('A refusal of better-auth that says when to come again', () => {
  /** Sends a change that better-auth answers so. Returns what happened, in order. */
  async function change(response: Response, signedIn: boolean): Promise<string[]> {
    const events: string[] = [];
    const log = pino({ enabled: false });
    const options: Partial<MountOptions> = {
      ...{ log, clientAddress: () => '203.0.113.1' },
      auth: { handler: async () => response } as never,
      config: {
        apiUrl: 'http://localhost',
        trustedOrigins: [] as string[],
        authSecret: 'a secret of 32 characters or more',
        billing: { enabled: false },
      } as never,
      findSession: async () => (signedIn ? ({ userId: 'user' } as Caller) : undefined),
      admitBody: async () => () => void events.push('let go of the body'),
      beginWrite: async () => () => void events.push('end the write'),
      beginRefusal: async (requester, seconds) => void events.push(`refuse ${requester} for ${seconds}`),
    };
    const server = createServer(express().use(mountAuth(options as MountOptions))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/auth/organization/invite-member`;
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(url, { method: 'POST', headers, body: '{}' });
      return [...events, `${status}`];
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  const tooMany = (headers: Record<string, string>, status = 429) => Response.json({ code: 'TOO_MANY_REQUESTS' }, { status, headers });

  it('may be delayed for the user, who holds nothing meanwhile', async () => {
    const expected = ['let go of the body', 'end the write', 'refuse user for 60', '429'];
    expect(await change(tooMany({ 'x-retry-after': '60' }), true)).to.deep.equal(expected);
  });

  it('may be delayed for an address if nobody is signed in', async () => {
    const expected = ['let go of the body', 'refuse 203.0.113.1 for 60', '429'];
    expect(await change(tooMany({ 'x-retry-after': '60' }), false)).to.deep.equal(expected);
  });

  it('is no other response', async () => {
    const held = ['let go of the body', 'end the write'];
    expect(await change(Response.json({}), true)).to.have.members([...held, '200']);
    expect(await change(tooMany({}), true)).to.have.members([...held, '429']);
    expect(await change(tooMany({ 'x-retry-after': '60' }, 503), true)).to.have.members([...held, '503']);
  });
});
