import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { extraContentTypes } from '../../contract/content-types.ts';
import { emailPattern } from '../../contract/fields.ts';
import { buildOpenApi } from '../../contract/openapi.ts';

interface Media {
  schema: object;
}
interface Response {
  $ref?: string;
  content?: Record<string, Media>;
}
interface Operation {
  operationId: string;
  responses: Record<string, Response>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> } & Record<string, object>;
}

/** What an OpenAPI document says of the answers of each operation. */
export interface DescribedAnswers {
  /** The operation that a request means, over either transport. */
  find(method: string, path: string): string | undefined;
  /** Throws unless the operation declares the status, and the body is what it declares. */
  check(operation: string, status: number, body: unknown): void;
  checkEvent(operation: string, event: unknown): void;
  checkLine(operation: string, line: unknown): void;
}

/**
 * Reads the document as every API builds it (a test holds the served one to it). Beyond what it says, no answer may have a field
 * that it does not name.
 */
export function describeAnswers(): DescribedAnswers {
  const document = closed(buildOpenApi({ cookieName: 'session', extra: extraContentTypes })) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  // Its own form of addresses is narrower than that of the contract.
  ajv.addFormat('email', emailPattern);
  ajv.addSchema({ components: document.components }, 'openapi');
  const validators = new Map<string, ValidateFunction>();
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method,
      operation,
      path: new RegExp(`^/api/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    })),
  );
  const byName = new Map(operations.map(({ operation }) => [operation.operationId, operation]));

  function validatorOf(name: string, status: number, type: string): ValidateFunction {
    const key = `${name} ${status} ${type}`;
    const known = validators.get(key);
    if (known) return known;
    const { $ref, ...own } = byName.get(name)?.responses[status] ?? {};
    const response = $ref === undefined ? own : document.components.responses[$ref.split('/').at(-1) ?? ''];
    const schema = (response as Response | undefined)?.content?.[type]?.schema;
    if (!schema) throw new Error(`${name} does not declare ${status} with ${type}`);
    const made = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/')));
    validators.set(key, made);
    return made;
  }

  function validate(validator: ValidateFunction, value: unknown, what: string): void {
    if (validator(value)) return;
    throw new Error(
      `${what} is not what the document says: ${ajv.errorsText(validator.errors)}\n${JSON.stringify(value)?.slice(0, 2_000)}`,
    );
  }

  return {
    find(method, path) {
      const name = path.startsWith('/rpc/') ? path.replace('/rpc/', '').replaceAll('/', '.') : undefined;
      if (name !== undefined) return method === 'POST' && byName.has(name) ? name : undefined;
      const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
      return operations.find((entry) => entry.method === wanted && entry.path.test(path))?.operation.operationId;
    },
    check: (name, status, body) => validate(validatorOf(name, status, 'application/json'), body, `${name}'s ${status}`),
    checkEvent: (name, event) => validate(validatorOf(name, 200, 'text/event-stream'), event, `an event of ${name}`),
    checkLine: (name, line) => validate(validatorOf(name, 200, 'application/x-ndjson'), line, `a line of ${name}`),
  };
}

/** The same schemas, in which objects with named properties have no others. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, child]) => [key, closed(child)]));
  const isObjectSchema = copy.type === 'object' && typeof copy.properties === 'object' && !('additionalProperties' in copy);
  return isObjectSchema ? { ...copy, additionalProperties: false } : copy;
}
