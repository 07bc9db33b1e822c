import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
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

/** Inserts a job without a workflow, which the streams of its organization tell of. */
export async function insertEndedJob({ pool }: Service, id: string, organizationId: string): Promise<void> {
  await pool.query(
    `insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
     values ($1, $2, 'text.embed', 'canceled', '{"texts":["a"]}', 1, 1, '2026-01-01', now())`,
    [id, organizationId],
  );
}

/** Opens a stream on a connection of its own, and waits for its headers. Returns what closes it. */
export function openStream(url: string, token: string, onJob: (jobId: string) => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const req = get(url, { agent: false, headers: { authorization: `Bearer ${token}` } }, (res) => {
      res.setEncoding('utf8').on('data', (text: string) => {
        for (const [, id] of text.matchAll(/^data: \{"id":"([^"]+)"/gm)) if (id) onJob(id);
      });
      res.on('error', () => {});
      if (res.statusCode === 200) resolve(() => req.destroy());
      else reject(new Error(`${url}: ${res.statusCode}`));
    }).on('error', reject);
  });
}

/** Opens as many streams for each user as one may have. Returns what closes them. */
export async function openStreams(url: string, tokens: string[], onJob: (jobId: string) => void): Promise<() => void> {
  const open = (token: string) => Array.from({ length: streamsPerUser }, () => openStream(url, token, onJob));
  const closers = await Promise.all(tokens.flatMap(open));
  return () => {
    for (const close of closers) close();
  };
}
