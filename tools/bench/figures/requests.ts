import { findFreePorts } from '../../../local/ports.ts';
import { startBaseline } from '../support/baseline.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { alternate, requestsPerSecond } from '../support/rounds.ts';

/** `GET /documents/{id}`, authenticated, authorized and validated, over both transports, compared with Express and one select. */
export const requests: Measure = async (service, { quick, rounds }) => {
  const seconds = quick ? 1 : 3;
  const upload = { workspaceId: service.workspaceId, name: 'bench.txt', contentType: 'text/plain', size: 1 };
  const { document } = await service.call('POST', '/api/v1/documents', upload);
  const [port = 0] = await findFreePorts(1);
  const bareUrl = `http://127.0.0.1:${port}/documents/${document.id}`;
  const baseline = await startBaseline(service, 'bare-express.ts', [service.stack.databaseUrl, String(port)], bareUrl);
  const authorization = `Bearer ${service.token}`;
  const bare = () => requestsPerSecond({ url: bareUrl, seconds });
  try {
    const rest = await alternate(
      rounds(3),
      () => requestsPerSecond({ url: `${service.url}/api/v1/documents/${document.id}`, headers: { authorization }, seconds }),
      bare,
    );
    const rpc = await alternate(
      rounds(3),
      () =>
        requestsPerSecond({
          url: `${service.url}/rpc/documents/get`,
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ json: { id: document.id } }),
          seconds,
        }),
      bare,
    );
    return [
      toFigure('GET /documents/{id}', { ...rest, unit: 'requests/s' }, { ratio: { atLeast: 0.5 } }),
      toFigure('the same over /rpc', { ...rpc, unit: 'requests/s' }, { ratio: { atLeast: 0.4 } }),
    ];
  } finally {
    await baseline.stop();
  }
};
