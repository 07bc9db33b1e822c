import { expect } from 'chai';
import { OpenAPIClientAxios } from 'openapi-client-axios';
import { until } from '../support/processes.ts';
import { recorder } from '../support/recorder.ts';
import { useApi } from '../support/use-api.ts';

const text = 'The dome opens at dusk. The mirrors are washed with deionised water twice a year. Visitors arrive by the northern gate.';

/** Operations by their `operationId`: what is known of them stands in the document. */
type Described = Record<string, (parameters?: object | null, body?: object) => Promise<{ data: any }>>;

describe('A client that knows the OpenAPI document and a token', () => {
  const { api } = useApi();
  let client: Described;
  let token: string;

  before(async () => {
    token = (await api.createTenant()).owner.token;
    const described = new OpenAPIClientAxios({
      definition: `${api.url}/api/v1/openapi.json`,
      withServer: { url: `${api.url}/api/v1` },
      axiosConfigDefaults: { headers: { authorization: `Bearer ${token}` } },
    });
    const axios = await described.init();
    axios.interceptors.response.use((response) => {
      const { method = '', baseURL, url } = response.config;
      const headers = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
      const { pathname: path } = new URL(`${baseURL}${url}`);
      recorder.check({
        method: method.toUpperCase(),
        path,
        requestHeaders: new Headers(),
        status: response.status,
        headers,
        body: response.data,
      });
      return response;
    });
    client = axios as unknown as Described;
  });

  async function call(operationId: string, parameters?: object, body?: object): Promise<any> {
    const operation = client[operationId];
    if (!operation) throw new Error(`the document has no ${operationId}`);
    return (await operation(parameters ?? null, body)).data;
  }

  /** The one request that is not an operation: the document tells of it where it tells how to sign in. */
  async function findOrganization(): Promise<string> {
    const { info } = (await (await fetch(`${api.url}/api/v1/openapi.json`)).json()) as { info: { description: string } };
    const [, path] = /`GET (\/\S+)` returns the organizations/.exec(info.description) ?? [];
    const organizations = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    const [first] = (await organizations.json()) as { id: string }[];
    return first?.id ?? '';
  }

  async function succeeded(job: { id: string }): Promise<any> {
    await until(async () => {
      const { status, error } = await call('jobs.get', { id: job.id });
      if (status !== 'queued' && status !== 'running' && status !== 'succeeded') throw new Error(`${status}: ${JSON.stringify(error)}`);
      return status === 'succeeded';
    }, 20_000);
  }

  it('uploads a document, runs jobs on it and finds its text', async () => {
    const organizationId = await findOrganization();
    const workspace = await call('workspaces.create', {}, { organizationId, name: 'Notes', slug: 'notes' });
    const { document, upload } = await call(
      'documents.createUpload',
      {},
      { workspaceId: workspace.id, name: 'notes.txt', contentType: 'text/plain', size: text.length },
    );
    const put = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: text });
    expect(put.status).to.equal(200);
    expect(await call('documents.complete', { id: document.id })).to.include({ status: 'ready' });
    for (const kind of ['document.extract', 'document.index'])
      await succeeded(await call('jobs.create', {}, { kind, documentId: document.id }));
    const { results } = await call('documents.search', { workspaceId: workspace.id }, { query: 'how are the mirrors cleaned' });
    expect(results[0]).to.include({ documentId: document.id, documentName: 'notes.txt' });
    expect(results[0].text).to.contain('deionised water');
  });
});
