/** The JSON of a completion, or undefined. Models without a fixed form of output wrap it, or think aloud before it. */
export function completionJson(content: string): unknown {
  const said = content.replace(/^\s*<think>[\s\S]*?<\/think>/, '');
  try {
    return JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}
