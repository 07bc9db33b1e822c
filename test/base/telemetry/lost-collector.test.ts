import { expect } from 'chai';
import { createJob, resultOf, summary } from '../../support/jobs.ts';
import { nightlySuite } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { withTimes } from '../../support/times.ts';
import { startTraceCollector, type TraceCollector } from '../../support/trace-collector.ts';
import { useApi } from '../../support/use-api.ts';

describe('A collector of traces that is', () => {
  for (const [fault, isSilent, suite] of [
    ['silent', true, describe],
    ['gone', false, nightlySuite],
  ] as const)
    suite(fault, () => {
      let collector: TraceCollector;
      const { api, tenant } = useApi({
        process: true,
        ai: true,
        services: ['api', 'worker'],
        env: async () => {
          collector = await startTraceCollector();
          collector.silent = true;
          if (!isSilent) await collector.stop();
          return withTimes({ spanExport: 50 }, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
        },
        check: 'at the end',
      });
      after(() => (isSilent ? collector.stop() : undefined));

      it('holds up neither a job nor the stop of a process', async () => {
        for (let count = 0; count < 3; count++) {
          const { id } = await createJob(api, tenant, summary);
          await api.jobIn(tenant.owner.token, id, ['succeeded']);
          await resultOf(api, id);
        }
        if (isSilent) await until(() => collector.waiting > 0);
        for (const service of ['worker', 'api'] as const) {
          expect(await api.stack.kill(service, 'SIGTERM')).to.deep.equal({ code: 0, signal: null });
          expect(api.stack.readLog(service)).to.include('"msg":"stopped"');
        }
      });
    });
});
