import { expect } from 'chai';
import { unitsOf } from '../support/answer-passages.ts';
import { childrenOf } from '../support/processes.ts';
import { startAiService } from './support/ai-service.ts';

const passages = unitsOf('The lease of the boat shed ends in May.');

describe('A question to the local AI service', () => {
  it('does not wait for documents that are being read', async () => {
    const service = await startAiService();
    const readers = childrenOf(service.pid).filter(({ command }) => command.includes('formats/child.ts'));
    try {
      expect(readers).to.have.length(2);
      // As if each of them were reading a scan of many pages.
      for (const { pid } of readers) process.kill(pid, 'SIGSTOP');
      const reading = new AbortController();
      const unread = Array.from({ length: 4 }, () =>
        service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain', signal: reading.signal }).catch(() => 'unread'),
      );
      const { answer } = await service.client.answer({ question: 'When does the lease of the boat shed end?', passages });
      expect(answer).to.deep.equal([{ units: [1], mark: null }]);
      reading.abort();
      expect(await Promise.all(unread)).to.deep.equal(Array(4).fill('unread'));
    } finally {
      await service.stop();
    }
  });
});
