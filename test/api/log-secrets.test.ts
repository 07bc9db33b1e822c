import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('The log of the API', () => {
  const { api, tenant } = useApi({ env: { LOG_LEVEL: 'trace' } });
  const log = () => api.stack.readLog('api');

  it('holds no token of a mailed link, of an upload or of a session, however its request ends', async () => {
    const { token } = tenant.owner;
    const paths = [
      '/api/auth/reset-password/SECRET?callbackURL=/',
      '/api/auth/reset-password/SECRET/%zz',
      '/api/auth/verify-email?token=SECRET',
      '/accept-invitation/SECRET',
      '/uploads/organization/document?expires=1&signature=SECRET',
      '/api/v1/nothing/SECRET?token=SECRET',
      '/rpc/nothing/SECRET',
    ];
    for (const path of paths) {
      await fetch(`${api.url}${path}`, { redirect: 'manual' });
      await fetch(`${api.url}${path}`, { method: 'PUT', body: 'SECRET', headers: { 'content-type': 'text/plain' } });
    }
    await fetch(`${api.url}/api/auth/reset-password`, {
      method: 'POST',
      body: JSON.stringify({ token: 'SECRET', newPassword: 'SECRET-password' }),
      headers: { 'content-type': 'application/json' },
    });
    // The database refuses what holds a NUL: an internal error, which is logged with its cause.
    await fetch(`${api.url}/api/auth/verify-email?token=SECRET%00`);
    await fetch(`${api.url}/api/auth/reset-password/SECRET%00?callbackURL=/`);
    const last = await api.request('GET', '/api/v1/me', { token });
    // The API writes its log when it has time, in order: with the line of the last request, all before it are there.
    await until(() => log().includes(`"requestId":"${last.headers.get('x-request-id')}"`));
    expect(log()).not.to.include('SECRET').and.not.include(token.split('.')[0]);
  });
});
