import { expect } from 'chai';
import type { Caller } from '../../auth/session.ts';
import { serveAuth } from '../support/serve-auth.ts';

describe('A refusal of better-auth that says when to come again', () => {
  /** Sends a change to which better-auth returns this. Returns what happened, in order. */
  async function change(response: Response, signedIn: boolean): Promise<string[]> {
    const events: string[] = [];
    const server = await serveAuth(async () => response, {
      findSession: async () => (signedIn ? ({ userId: 'user' } as Caller) : undefined),
      admitBody: async () => () => void events.push('let go of the body'),
      beginWrite: async () => () => void events.push('end the write'),
      beginRefusal: async (requester, seconds) => void events.push(`refuse ${requester} for ${seconds}`),
    });
    try {
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${server.url}/organization/invite-member`, { method: 'POST', headers, body: '{}' });
      return [...events, `${status}`];
    } finally {
      server.stop();
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
