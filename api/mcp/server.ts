import { McpServer, type ScopeChallengeHandler } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { version } from '../../contract/index.ts';
import { renderError } from '../http/errors.ts';
import { isDiskFull, storageFull, storageFullLine } from '../uploads/admission.ts';
import { askDocuments } from './ask-documents.ts';
import { createJob } from './create-job.ts';
import { getDocument } from './get-document.ts';
import { listDocuments } from './list-documents.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { scopesOf } from './scopes.ts';
import { searchDocuments } from './search-documents.ts';
import type { Tool, ToolContext } from './tool.ts';
import { uploadDocument } from './upload-document.ts';

const tools: Tool[] = [searchDocuments, askDocuments, getDocument, listDocuments, listWorkspaces, uploadDocument, createJob];

interface McpServerOptions {
  /** Whether tools that change something are served. */
  writes: boolean;
  requestId: string;
  log: Logger;
}

/** The MCP server of one request: the tools, which call the operations of the API as the caller. */
export function createMcpServer(context: ToolContext, options: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: 'sheaf', title: 'Sheaf', version },
    {
      instructions: 'Search and read the documents of an organization. Begin with list_workspaces unless your key is of one workspace.',
      // No notifications of changes: the tools are the same as long as the process runs.
      capabilities: { tools: { listChanged: false } },
    },
  );
  for (const tool of tools.filter(({ writes }) => options.writes || !writes)) {
    const { name, title, description, input, writes } = tool;
    const annotations = { readOnlyHint: !writes, destructiveHint: false, openWorldHint: false };
    const call = (args: unknown) => callTool(tool, args as Record<string, unknown>, context, options);
    // A model that names a field wrongly learns it, instead of reading what it did not ask for.
    const inputSchema = input.strict();
    server.registerTool(name, { title, description, inputSchema, annotations, scopeChallenge: challengeOf(tool) }, call);
  }
  return server;
}

/** Asks for an access token with more scopes, if that of the call lacks one. */
function challengeOf(tool: Tool): ScopeChallengeHandler {
  const needed = scopesOf(tool);
  const challenge = { scopes: needed, errorDescription: `${tool.name} needs the scope ${needed.join(' and ')}.` };
  return ({ authInfo }) => (needed.every((scope) => authInfo?.scopes.includes(scope)) ? undefined : challenge);
}

/** A tool's result. An error is a result, too, so that the model reads what is wrong. */
async function callTool(tool: Tool, args: Record<string, unknown>, context: ToolContext, options: McpServerOptions) {
  try {
    const result = await tool.call(args, context);
    return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result };
  } catch (error) {
    return { content: [{ type: 'text' as const, text: explain(error, tool, options) }], isError: true };
  }
}

/** What the model reads of an error. A full disk has the code that it has for `PUT /uploads`. */
function explain(error: unknown, { operations: [route] }: Tool, { requestId, log }: McpServerOptions): string {
  if (isDiskFull(error)) {
    log.error({ err: error, requestId }, storageFullLine);
    return `${storageFull().code}: The store of documents is full. Try again later.`;
  }
  const { envelope } = renderError(error, { requestId, route, log });
  return envelope ? `${envelope.code}: ${envelope.message}` : `The service failed; its log knows the cause as ${requestId}.`;
}
