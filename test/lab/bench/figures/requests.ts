import { findFreePorts } from '../../../../ops/local/ports.ts';
import { startBaseline } from '../support/baseline.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { alternate, requestsPerSecond } from '../support/rounds.ts';

/** `GET /documents/{id}`, authenticated, authorized and validated, compared with Express and one select. */
export const requests: Measure = async (service, { quick, rounds }) => {
  const seconds = quick ? 1 : 3;
  const upload = { workspaceId: service.workspaceId, name: 'bench.txt', contentType: 'text/plain', size: 1 };
  const { document } = await service.call('POST', '/api/v1/documents', upload);
  const [port = 0] = await findFreePorts(1);
  const bareUrl = `http://127.0.0.1:${port}/documents/${document.id}`;
  const baseline = await startBaseline(service, 'bare-express.ts', [service.stack.databaseUrl, String(port)], bareUrl);
  const authorization = `Bearer ${service.token}`;
  try {
    const rest = await alternate(
      rounds(3),
      () => requestsPerSecond({ url: `${service.url}/api/v1/documents/${document.id}`, headers: { authorization }, seconds }),
      () => requestsPerSecond({ url: bareUrl, seconds }),
    );
    return [toFigure('GET /documents/{id}', { ...rest, unit: 'requests/s' }, { ratio: { atLeast: 0.5 } })];
  } finally {
    await baseline.stop();
  }
};
