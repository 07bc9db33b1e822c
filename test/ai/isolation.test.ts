import { expect } from 'chai';
import { createE5Model } from '../../ai/embedding/e5/pooled-model.ts';
import { readUpload } from '../../ai/formats/extract-document.ts';
import { createProvider } from '../../ai/providers.ts';
import { ProcessPool } from '../../ai/sandbox/process-pool.ts';
import { TaskFailure, type TaskFailureReason } from '../../ai/sandbox/protocol.ts';
import { loadAiServiceConfig } from '../../base/config/ai-service.ts';
import { nightly } from '../support/nightly.ts';
import { childrenOf, cpuSecondsOf, isAlive, until } from '../support/processes.ts';
import { type AiService, refusalOf } from './support/ai-service.ts';
import { makePdf, makeSlowPdf } from './support/make-pdf.ts';
import { useAiService } from './support/use-ai-service.ts';

const slow = makeSlowPdf();

function readersOf(service: AiService): number[] {
  return childrenOf(service.pid)
    .filter(({ command }) => command.includes('formats/child.ts'))
    .map(({ pid }) => pid);
}

async function works(service: AiService): Promise<boolean> {
  const { text } = await service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain' });
  return text === 'well';
}

describe('documents that take too long', () => {
  const service = useAiService({ EXTRACT_TIMEOUT_SECONDS: '2' });

  it('are ended after EXTRACT_TIMEOUT_SECONDS, and the next one finds a fresh reader', async () => {
    expect(await works(service)).to.equal(true);
    const before = readersOf(service);
    expect(await refusalOf(await service.extract(slow, 'application/pdf'))).to.deep.equal([408, 'extract_timeout']);
    await until(() => before.some((pid) => !isAlive(pid)));
    await until(() => readersOf(service).length === before.length);
    expect(await works(service)).to.equal(true);
  });
});

describe('documents that harm', () => {
  const service = useAiService();
  // A reader that still starts uses the processor, too, and a document that no reader has begun ends none.
  before(() => Promise.all(readersOf(service).map(() => works(service))));

  const readSlow = (signal?: AbortSignal) =>
    service.client.extract({ body: slow, contentType: 'application/pdf', signal }).catch((error: unknown) => error);

  nightly('cannot take more memory than a reader may have', async () => {
    const bomb = makePdf('q '.repeat(15_000_000));
    const error = await service.client.extract({ body: bomb, contentType: 'application/pdf' }).catch((caught: unknown) => caught);
    expect(error).to.include({ kind: 'rejected', status: 422, code: 'unreadable_document' });
    expect((error as Error).message).to.contain('memory');
    expect(await works(service)).to.equal(true);
  });

  it('delay nobody else, and are let go when the caller leaves', async () => {
    const leaving = new AbortController();
    const work = cpuSecondsOf(readersOf(service));
    let answered = false;
    const call = readSlow(leaving.signal).finally(() => {
      answered = true;
    });
    await until(() => cpuSecondsOf(readersOf(service)) > work + 0.2);
    expect(await works(service)).to.equal(true);
    await service.client.health();
    await service.client.embed({ texts: ['a', 'b'] });
    expect(answered).to.equal(false);
    const before = readersOf(service);
    leaving.abort(new Error('changed my mind'));
    expect(await call).to.have.property('message', 'changed my mind');
    await until(() => before.some((pid) => !isAlive(pid)));
    expect(await works(service)).to.equal(true);
  });

  it('are read again when someone else killed their reader', async () => {
    const idle = readersOf(service);
    for (const pid of idle) process.kill(pid, 'SIGKILL');
    expect(await works(service)).to.equal(true);
  });

  it('are read side by side, each with its own text', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `document ${index} ${'x'.repeat(index * 3_000)}`);
    const answers = await Promise.all(texts.map((text) => service.client.extract({ body: Buffer.from(text), contentType: 'text/plain' })));
    expect(answers.map(({ text }) => text)).to.deep.equal(texts);
  });
});

describe('what ends two of the processes that work at it, as the kernel does if there is too little memory', () => {
  /** A pool whose children are killed as soon as they have begun with what is to take for ever, and how often that was. */
  const startPool = () => {
    let kills = 0;
    const killWhoBegan = (pid = 0, text = '') => {
      if (!text.includes('begun')) return;
      kills += 1;
      process.kill(pid, 'SIGKILL');
    };
    const entry = new URL('./support/endless-child.ts', import.meta.url);
    const pool = new ProcessPool({ entry, size: 2, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20, onStderr: killWhoBegan });
    return { pool, kills: () => kills };
  };
  const signal = new AbortController().signal;
  const config = loadAiServiceConfig({ SERVICE_TOKEN: 'secret' });
  const ocr = { backend: () => undefined, problem: () => null };

  for (const [kind, refusal, work] of [
    ['document', 'unreadable_document', (pool, text) => readUpload({ config, pool, ocr }, Buffer.from(text), 'text/plain', signal)],
    [
      'text',
      'unusable_text',
      (pool, text) => createProvider(config.remote, { readers: pool, answerers: pool }, [createE5Model(pool)]).summarize(text, 1, signal),
    ],
  ] as [string, string, (pool: ProcessPool, text: string) => Promise<unknown>][])
    it(`is refused for good: a ${kind}`, async () => {
      const { pool, kills } = startPool();
      try {
        const error = await work(pool, 'endless').catch((caught: unknown) => caught);
        expect(error).to.include({ status: 422, code: refusal });
        expect(kills()).to.equal(2);
        expect(await work(pool, 'well')).to.equal('well');
      } finally {
        await pool.close();
      }
    });
});

describe('texts that harm', () => {
  const signal = new AbortController().signal;
  /** What a text is refused with if its task ends for a reason. */
  const refusals = (reason: TaskFailureReason) => {
    const run = () => Promise.reject(new TaskFailure(reason, 'The task has no result.'));
    const pool = { problem: null, run } as unknown as ProcessPool;
    const e5 = createE5Model(pool);
    const { remote } = loadAiServiceConfig({ SERVICE_TOKEN: 'secret' });
    const provider = createProvider(remote, { readers: pool, answerers: pool }, [e5]);
    const question = { question: 'text', before: null, embedModel: null, passages: [], maxSentences: 1, draft: false };
    const works = [provider.summarize('text', 1, signal), e5.embed(['text'], signal), provider.answer(question, signal)];
    return Promise.all(works.map((work) => (work as Promise<unknown>).catch((error: unknown) => error)));
  };

  for (const reason of ['timeout', 'memory', 'deadly', 'crash'] as const) {
    it(`are refused for good, summarized, embedded or searched for an answer: ${reason}`, async () => {
      for (const error of await refusals(reason)) expect(error).to.include({ status: 422, code: 'unusable_text' });
    });
  }

  for (const reason of ['killed', 'unavailable'] as const) {
    it(`are not blamed for what happens to the processes: ${reason}`, async () => {
      const [summary, vectors, answer] = await refusals(reason);
      expect(summary).to.include({ status: 503, code: 'summary_failed' });
      expect(vectors).to.include({ status: 503, code: 'embed_failed' });
      expect(answer).to.include({ status: 503, code: 'answer_failed' });
    });
  }
});
