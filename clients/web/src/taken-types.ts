import { contentTypesByExtension } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { jobKindsQuery } from './queries.ts';

/** The endings of files that the deployment takes: `all`, and one for each of its `kinds`. None while it is not known yet. */
export function useEndings(): { all: string[]; kinds: string[] } {
  const { data } = useQuery(jobKindsQuery);
  const typeOf = (ending: string) => contentTypesByExtension[ending];
  const all = Object.keys(contentTypesByExtension).filter((ending) => data?.contentTypes.some((type) => type === typeOf(ending)));
  return { all, kinds: all.filter((ending, index) => all.findIndex((other) => typeOf(other) === typeOf(ending)) === index) };
}
