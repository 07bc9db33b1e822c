import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { nightly } from '../support/nightly.ts';
import { childrenOf, cpuSecondsOf, isAlive, runProgram, until } from '../support/processes.ts';
import { startAiService, token } from './support/ai-service.ts';
import { makeSlowPdf } from './support/make-pdf.ts';

(process.platform === 'linux' ? describe : describe.skip)('the environment of the AI service', () => {
  nightly('has no secret that its readers could find in /proc, and the service has it', async () => {
    const service = await startAiService({ REMOTE_AI_KEY: 'key-of-a-model' });
    const environment = readFileSync(`/proc/${service.pid}/environ`, 'latin1');
    expect(environment).to.include('PATH=').and.not.include(token).and.not.include('key-of-a-model');
    const { text: read } = await service.client.extract({ body: Buffer.from('well'), contentType: 'text/plain' });
    expect(read).to.equal('well');
    await service.stop();
  });

  it('says in a sentence that the temporary directory takes nothing', async () => {
    const program = runProgram(process.execPath, ['ai/main.ts'], { env: { SERVICE_TOKEN: token, TMPDIR: '/proc/version' } });
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.match(
      /^The configuration has a problem:\n {2}- TMPDIR: nothing can be written to \/proc\/version \(ENOTDIR: [^\n]*\)\.\n$/,
    );
  });
});

describe('the end of the AI service', () => {
  nightly('answers what is under way, then leaves with exit code 0 and no child', async () => {
    const service = await startAiService({ OCR_PROVIDER: 'local' });
    const children = childrenOf(service.pid).map(({ pid }) => pid);
    expect(children).to.have.length.at.least(3);
    const headers = { 'x-service-token': token, 'content-type': 'text/plain', expect: '100-continue' };
    const upload = request(`${service.url}/v1/extract`, { method: 'POST', headers });
    upload.flushHeaders();
    await once(upload, 'continue');
    service.program.child.kill('SIGTERM');
    await service.program.printed(/stopping/);
    upload.end('the last document');
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    expect(JSON.parse(await text(response))).to.include({ text: 'the last document' });
    expect(await service.program.exited).to.deep.equal({ code: 0, signal: null });
    expect(children.filter(isAlive)).to.deep.equal([]);
  });

  nightly('waits a few seconds at most for a document that takes longer', async () => {
    const service = await startAiService();
    const children = childrenOf(service.pid).map(({ pid }) => pid);
    const work = cpuSecondsOf(children);
    const call = service.client.extract({ body: makeSlowPdf(), contentType: 'application/pdf' }).catch((error: unknown) => error);
    await until(() => cpuSecondsOf(children) > work + 0.2);
    service.program.child.kill('SIGINT');
    expect(await service.program.exited).to.deep.equal({ code: 0, signal: null });
    expect(await call).to.include({ kind: 'unreachable', retryable: true });
  });

  nightly('takes its children along even when it is killed while they are busy', async () => {
    const service = await startAiService({ OCR_PROVIDER: 'local' });
    const children = childrenOf(service.pid).map(({ pid }) => pid);
    expect(children).to.have.length.at.least(3);
    // The readers are warm once they have answered, so that whatever works from now on works on the document.
    await Promise.all([1, 2, 3, 4].map(() => service.client.summarize({ text: 'A sentence.' })));
    const idle = new Map(children.map((pid) => [pid, cpuSecondsOf([pid])]));
    const call = service.client.extract({ body: makeSlowPdf(), contentType: 'application/pdf' }).catch((error: unknown) => error);
    await until(() => children.some((pid) => cpuSecondsOf([pid]) > (idle.get(pid) ?? 0) + 0.5));
    service.program.child.kill('SIGKILL');
    await until(() => !children.some(isAlive));
    expect(await call).to.include({ kind: 'unreachable', retryable: true });
  });
});
