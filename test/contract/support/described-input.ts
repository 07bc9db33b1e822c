import { buildOpenApi } from '../../../contract/openapi.ts';
import type { OpenApiOperation } from '../../../contract/openapi-operations.ts';
import { exampleOf, type JsonSchema } from '../../../contract/openapi-schemas.ts';
import type { AnyRoute } from '../../../contract/route.ts';

const document = buildOpenApi({ cookieName: 'session' });
const schemas = document.components.schemas as Record<string, JsonSchema>;
const operations = new Map(
  Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation] as const)),
);

/** The input of an operation as its OpenAPI description has it: one field for each parameter and each property of the body. */
export interface DescribedInput {
  /** Names as the contract has them; whether the field stands in the path, the query or the body. */
  fields: { name: string; place: 'path' | 'query' | 'body'; required: boolean; schema: JsonSchema }[];
  /** An input that every schema accepts. */
  example: Record<string, unknown>;
}

/** One description for each alternative of the body, since kinds have fields of their own. */
export function describedInputs(route: AnyRoute): DescribedInput[] {
  const operation = operations.get(route.metadata.operation);
  if (!operation) throw new Error(`the document has no ${route.metadata.operation}`);
  const parameters = parameterFields(operation, route);
  const body = resolve(operation.requestBody?.content['application/json']?.schema ?? {});
  return (body.oneOf ?? [body]).map(resolve).map((alternative) => {
    const fields = [...parameters, ...bodyFields(alternative)];
    return { fields, example: Object.fromEntries(fields.map(({ name, schema }) => [name, exampleOf(schema, schemas)])) };
  });
}

export function resolve(schema: JsonSchema): JsonSchema {
  return schema.$ref ? resolve(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
}

function parameterFields({ parameters = [] }: OpenApiOperation, route: AnyRoute): DescribedInput['fields'] {
  const names = Object.keys(route.pathParams?.shape ?? {});
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return [
    // A segment may have another name in the document than in the contract.
    ...inPath.map(({ schema = {} }, index) => ({ name: names[index] ?? '', place: 'path' as const, required: true, schema })),
    ...inQuery.map(({ name = '', required = false, schema = {} }) => ({ name, place: 'query' as const, required, schema })),
  ];
}

function bodyFields({ properties = {}, required = [] }: JsonSchema): DescribedInput['fields'] {
  return Object.entries(properties).map(([name, schema]) => ({ name, place: 'body' as const, required: required.includes(name), schema }));
}
