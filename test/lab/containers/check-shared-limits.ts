import { setTimeout as delay } from 'node:timers/promises';
import { callUntilResponse, send } from '../drill/tenant.ts';
import { type CheckResult, check, same } from './check.ts';
import type { Deployment } from './deployment.ts';

/** The default of SEARCH_LIMIT_PER_MINUTE. */
const searchesPerMinute = 30;
const attempts = 60;

/** Checks, with several APIs behind the edge, that a user who is answered by all of them may search as often as with one. */
export async function checkSharedLimits({ compose, url }: Deployment): Promise<CheckResult> {
  return await check('limits over all APIs', async () => {
    const apis = (await compose.list()).filter(({ service }) => service === 'api').length;
    if (apis < 2) throw new Error('there is one API only');
    const slug = `limits-${Date.now()}`;
    const person = { name: 'Limits', email: `${slug}@example.com`, password: 'a long password' };
    const signedUp = await callUntilResponse({ url: `${url}/api/auth/sign-up/email`, method: 'POST', body: person });
    const token = signedUp.headers.get('set-auth-token') ?? '';
    const post = (path: string, body: unknown) => ({ url: `${url}${path}`, method: 'POST', token, body });
    const organization = await callUntilResponse(post('/api/auth/organization/create', { name: slug, slug }));
    const workspace = await callUntilResponse(post('/api/v1/workspaces', { organizationId: organization.body.id, name: slug, slug }));
    const search = post(`/api/v1/workspaces/${workspace.body.id}/documents/search`, { query: 'the tide' });
    // A window that has just begun lasts longer than the searches take.
    await delay(60_000 - (Date.now() % 60_000));
    const statuses = new Map<number, number>();
    for (let count = 0; count < attempts; count++) {
      const status = (await send(search))?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    same('statuses', Object.fromEntries(statuses), { 200: searchesPerMinute, 429: attempts - searchesPerMinute });
    const perApi = (await compose.run('logs', '--no-log-prefix', '--since', '70s', 'edge')).split('\n');
    const upstreams = new Set(
      perApi.flatMap((line) => (line.includes('/documents/search') ? (/\d+\.\d+\.\d+\.\d+:3000/.exec(line) ?? []) : [])),
    );
    same('APIs that answered', upstreams.size, apis);
    return `${searchesPerMinute} of ${attempts} searches, answered by ${upstreams.size} APIs`;
  });
}
