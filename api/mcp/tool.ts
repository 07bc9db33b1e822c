import type { z } from 'zod';
import type { Storage } from '../../adapters/storage/port.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { Contract } from '../../contract/index.ts';
import type { AnyRoute, RouteInput, RouteOutput } from '../../contract/route.ts';
import { type Caller, workspaceOf } from '../caller.ts';
import type { Procedure, Procedures } from '../procedure.ts';

/** What a tool works with: who calls, and the operations of the API, which it calls as them. */
export interface ToolContext {
  caller: Caller;
  procedures: Procedures<Contract>;
  storage: Storage;
  /** The organization of a workspace. Throws NOT_FOUND. */
  organizationOf(workspaceId: string): Promise<string>;
  /** Runs an operation, with its authorization, limits and audit; by default until the client leaves. Throws ApiError. */
  run<R extends AnyRoute>(procedure: Procedure<R>, input: RouteInput<R>, signal?: AbortSignal): Promise<RouteOutput<R>>;
}

/** A tool of the MCP server. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /** The operations that it calls. A caller needs the permission of each. */
  operations: readonly AnyRoute[];
  /** Whether it changes anything: such tools are served only with `MCP_WRITE`. */
  writes: boolean;
  input: Input;
  call(input: z.output<Input>, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Declares a tool, so that its handler knows the type of its input. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}

/** The workspace that a tool works in: the one that is named, or the only one of the key. Throws BAD_REQUEST. */
export function workspaceFor({ caller }: ToolContext, named: string | undefined): string {
  const workspaceId = named ?? workspaceOf(caller);
  if (workspaceId !== undefined) return workspaceId;
  const message = 'Name a workspace: list_workspaces has their ids.';
  throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['workspaceId'], message }] } });
}
