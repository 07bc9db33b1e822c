import { randomUUID } from 'node:crypto';
import { Agent, get } from 'node:http';
import type { Service } from './service.ts';

/** No user may have more. */
export const streamsPerUser = 5;

/** A user who is a member of the service's organization; returns their token. */
export async function signUpMember(service: Service): Promise<string> {
  const { id, token } = await service.signUp();
  await service.pool.query(`insert into member (id, "organizationId", "userId", role, "createdAt") values ($1, $2, $3, 'member', now())`, [
    randomUUID(),
    service.organizationId,
    id,
  ]);
  return token;
}

/** Opens as many streams for each user as one may have, and waits for the headers of each. Returns what closes them. */
export async function openStreams(url: string, tokens: string[], onJob: (jobId: string) => void): Promise<() => void> {
  const agent = new Agent({ keepAlive: true });
  const open = (token: string) =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (res) => {
        res.setEncoding('utf8').on('data', (text: string) => {
          for (const [, id] of text.matchAll(/^data: \{"id":"([^"]+)"/gm)) if (id) onJob(id);
        });
        res.on('error', () => {});
        resolve();
      }).on('error', reject);
    });
  await Promise.all(tokens.flatMap((token) => Array.from({ length: streamsPerUser }, () => open(token))));
  return () => agent.destroy();
}
