import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isClean, readFindings } from './read-findings.ts';

describe('The findings of the fuzzing', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'sheaf-findings-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('are counted from the events, each request once in a column', async () => {
    const findings = await read([
      { EngineStarted: {} },
      scenario('GET /me', [{ status: 200 }, { status: 503 }]),
      scenario('GET /me', [{ status: 418, failed: ['status_code_conformance', 'response_schema_conformance'] }]),
      scenario('POST /jobs', [
        { status: 200, failed: ['negative_data_rejection', 'response_headers_conformance'] },
        { status: 500, failed: ['not_a_server_error'] },
        { status: 400, failed: ['positive_data_acceptance'] },
      ]),
      scenario('Stateful tests', [{ status: 200, failed: ['use_after_free'] }]),
    ]);
    expect(findings).to.deep.equal({ operations: 2, requests: 7, serverErrors: 2, undocumented: 2, accepted: 1, other: 2 });
    expect(isClean(findings)).to.equal(false);
  });

  it('are none only where requests were sent', async () => {
    expect(isClean(await read([scenario('GET /me', [{ status: 200 }])]))).to.equal(true);
    expect(isClean(await read([{ EngineStarted: {} }]))).to.equal(false);
  });

  async function read(events: object[]) {
    const file = join(directory, 'events.ndjson');
    writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    return await readFindings(file);
  }
});

/** A scenario as Schemathesis reports it, with the checks that failed for each answer, and one that succeeded. */
function scenario(label: string, answers: { status: number; failed?: string[] }[]): object {
  const interactions = Object.fromEntries(answers.map(({ status }, index) => [index, { response: { status_code: status } }]));
  const checks = answers.map(({ failed = [] }, index) => {
    const results = failed.map((name) => ({ name, status: 'failure' }));
    return [index, [{ name: 'content_type_conformance', status: 'success' }, ...results]];
  });
  return { ScenarioFinished: { recorder: { label, interactions, checks: Object.fromEntries(checks) } } };
}
