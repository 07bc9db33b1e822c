import { NativeSelect } from '@mantine/core';
import type { JobKind } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { jobKindsQuery } from '../queries.ts';
import { t } from '../text.ts';

interface KindFilterProps {
  kind: JobKind | undefined;
  onChange: (kind: JobKind | undefined) => void;
}

/** Narrows jobs to a kind of those that the deployment has. */
export function KindFilter({ kind, onChange }: KindFilterProps) {
  const { data } = useQuery(jobKindsQuery);
  const kinds = (Object.keys(t.jobs.kinds) as JobKind[]).filter((each) => each === kind || data?.jobKinds.includes(each));
  return (
    <NativeSelect
      size="xs"
      aria-label={t.jobs.kindLabel}
      data={[{ value: '', label: t.jobs.allKinds }, ...kinds.map((value) => ({ value, label: t.jobs.kinds[value] }))]}
      value={kind ?? ''}
      onChange={({ currentTarget: { value } }) => onChange(kinds.find((each) => each === value))}
    />
  );
}
