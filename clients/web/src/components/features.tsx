import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { Rows } from './rows.tsx';
import { StateMark } from './state-mark.tsx';
import { Subtitle } from './titles.tsx';

/** The feature flags of the deployment, as they are for the organization. Nothing where there are none. */
export function Features({ organizationId }: { organizationId: string }) {
  const { data = {}, error } = useQuery({
    queryKey: ['flags', organizationId],
    queryFn: ({ signal }) => service.system.flags({ organizationId }, { signal }),
  });
  const flags = Object.entries(data);
  if (flags.length === 0) return <Failure error={error} />;
  return (
    <>
      <Subtitle>{t.usage.features}</Subtitle>
      <Rows heads={[t.usage.feature, t.documents.status]}>
        {flags.map(([key, enabled]) => (
          <Table.Tr key={key}>
            <Table.Td className="foreign">{key}</Table.Td>
            <Table.Td>
              <StateMark tone={enabled ? 'good' : 'quiet'}>{enabled ? t.admin.on : t.admin.off}</StateMark>
            </Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </>
  );
}
