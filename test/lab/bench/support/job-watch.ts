import { createParser } from 'eventsource-parser';
import type { Service } from './service.ts';

/** Waits for jobs to finish, by the service's live stream. */
interface JobWatch {
  finished(jobId: string): Promise<void>;
  close(): void;
}

export async function watchJobs(service: Service): Promise<JobWatch> {
  const done = new Map<string, string>();
  const waiting = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const abort = new AbortController();
  const response = await fetch(`${service.url}/api/v1/organizations/${service.organizationId}/jobs/stream`, {
    headers: { authorization: `Bearer ${service.token}` },
    signal: abort.signal,
  });
  const parser = createParser({
    onEvent({ data }) {
      const { id, status } = JSON.parse(data) as { id: string; status: string };
      if (!['succeeded', 'failed', 'canceled'].includes(status)) return;
      done.set(id, status);
      settle(id);
    },
  });
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => {});

  function settle(id: string): void {
    const waiter = waiting.get(id);
    const status = done.get(id);
    if (!waiter || !status) return;
    waiting.delete(id);
    done.delete(id);
    if (status === 'succeeded') waiter.resolve();
    else waiter.reject(new Error(`job ${id} ${status}`));
  }

  return {
    finished: (jobId) =>
      new Promise((resolve, reject) => {
        waiting.set(jobId, { resolve, reject });
        settle(jobId);
      }),
    close: () => abort.abort(),
  };
}
