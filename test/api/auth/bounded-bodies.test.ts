import { expect } from 'chai';
import { type AuthService, billingOn, startAuthService } from './support/service.ts';

const mebibyte = 1024 * 1024;

describe('Bodies of sign-in', () => {
  let service: AuthService;
  afterEach(() => service.stop());

  const webhook = (bytes: number) => service.client().post('/stripe/webhook', { padding: 'x'.repeat(bytes - 14) });

  it('have 64 KiB at most, and at the webhook a mebibyte', async () => {
    service = await startAuthService(billingOn);
    const signIn = await service.client().post('/sign-in/email', { padding: 'x'.repeat(64 * 1024) });
    expect(signIn.status).to.equal(413);
    expect((await webhook(mebibyte)).status).to.equal(400);
    expect((await webhook(mebibyte + 1)).status).to.equal(413);
  });

  it('are small at the webhook, too, which is not there, without billing', async () => {
    service = await startAuthService();
    expect((await webhook(mebibyte)).status).to.equal(413);
    expect((await webhook(100)).status).to.equal(404);
  });
});
