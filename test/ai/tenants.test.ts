import { expect } from 'chai';
import { nightly } from '../support/nightly.ts';
import { childrenOf, cpuSecondsOf, until } from '../support/processes.ts';
import { startAiService } from './support/ai-service.ts';
import { makeSlowPdf } from './support/make-pdf.ts';

describe('tenants that share the readers', () => {
  nightly('do not wait for the slow files of another', async () => {
    const service = await startAiService({ EXTRACT_TIMEOUT_SECONDS: '10', AI_READERS: '2' });
    const readText = async (tenant: string) => {
      const { text } = await service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain', tenant });
      expect(text).to.equal('well');
    };
    const leaving = new AbortController();
    try {
      for (const tenant of ['loud', 'quiet']) await readText(tenant);
      const readers = childrenOf(service.pid)
        .filter(({ command }) => command.includes('formats/child.ts'))
        .map(({ pid }) => pid);
      const before = cpuSecondsOf(readers);
      const slow = makeSlowPdf();
      let ended = 0;
      const calls = Array.from({ length: 4 }, () =>
        service.client
          .extract({ body: slow, contentType: 'application/pdf', tenant: 'loud', signal: leaving.signal })
          .catch(() => {})
          .finally(() => ended++),
      );
      await until(() => cpuSecondsOf(readers) > before + 1);
      await readText('quiet');
      expect(ended).to.equal(0);
      leaving.abort();
      await Promise.all(calls);
    } finally {
      await service.stop();
    }
  });
});
