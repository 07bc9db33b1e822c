// A program of somebody who has installed the package: it calls every operation, and checks each response by the contract.
import { readFileSync } from 'node:fs';
import { contract, routes } from '@sheaf/contract';
import { initClient } from '@ts-rest/core';

interface Call {
  operation: string;
  token: string;
  input: Record<string, unknown>;
}

const { baseUrl, calls } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as { baseUrl: string; calls: Call[] };

for (const { operation, token, input } of calls) {
  const route = routes.find(({ metadata }) => metadata.operation === operation);
  if (!route) throw new Error(`There is no ${operation}.`);
  const rest = { ...input };
  const take = (names: string[]) => Object.fromEntries(names.filter((name) => name in rest).map((name) => [name, pick(rest, name)]));
  const request = {
    params: take(Object.keys(route.pathParams?.shape ?? {})),
    query: take(Object.keys(route.query?.shape ?? {})),
    body: rest,
  };
  const headers = { authorization: `Bearer ${token}` };
  if (route.metadata.stream) {
    console.log(operation, await openStream(route, request, headers));
  } else {
    const client = initClient(contract, { baseUrl, baseHeaders: headers });
    const call = operation.split('.').reduce((node: any, name) => node[name], client);
    const { status, body } = await call(request);
    const schema = (route.responses as Record<number, { parse(value: unknown): unknown }>)[status];
    if (!schema) throw new Error(`${operation} does not declare ${status}: ${JSON.stringify(body)}`);
    schema.parse(body);
    console.log(operation, status);
  }
}

function pick(from: Record<string, unknown>, name: string): unknown {
  const value = from[name];
  delete from[name];
  return value;
}

/** The client of ts-rest would read it to its end. */
async function openStream({ method, path }: (typeof routes)[number], { params, body }: { params: object; body: object }, headers: object) {
  const url = Object.entries(params).reduce((filled, [name, value]) => filled.replace(`:${name}`, String(value)), `${baseUrl}${path}`);
  const sent = method === 'GET' ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw new Error(await response.text());
  await response.body?.cancel();
  return response.status;
}
