import { expect } from 'chai';
import pino from 'pino';
import { continueTrace, isTraced } from '../../../base/telemetry/spans.ts';
import { startTracing, type Tracing } from '../../../base/telemetry/start-tracing.ts';
import { traceStatement } from '../../../db/trace-statement.ts';

const sampler = { name: 'parentbased_always_on', ratio: 1 } as const;

describe('The span of a statement', () => {
  let tracing: Tracing | undefined;
  before(async () => {
    // Nothing listens there, and nothing is sent before the end.
    const config = { endpoint: 'http://127.0.0.1:1', headers: {}, sampler, batchDelayMs: 60_000 };
    tracing = await startTracing(config, 'test', pino({ level: 'silent' }));
  });
  after(() => tracing?.stop());

  /** Whether the statement is a part of a trace with these flags, and how often its text is read for the span. */
  function trace(flags: string): { traced: boolean; reads: number } {
    let reads = 0;
    const query = {
      get text() {
        reads += 1;
        return 'select 1 from job';
      },
    };
    return continueTrace(`00-${'1'.repeat(32)}-${'2'.repeat(16)}-${flags}`, () => {
      traceStatement(query)?.end();
      return { traced: isTraced(), reads };
    });
  }

  it('is made in a trace that is recorded, and costs nothing in one that is not', () => {
    expect(trace('01')).to.deep.equal({ traced: true, reads: 1 });
    expect(trace('00')).to.deep.equal({ traced: false, reads: 0 });
  });
});
