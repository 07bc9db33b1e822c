import { Alert } from '@mantine/core';
import { t } from '../text.ts';

/** What holds for every page, over each of them. */
export function Banner({ title, children }: { title: string; children: string }) {
  return (
    <Alert variant="default" role="status" mb="md" className="failure foreign" title={title}>
      {children}
    </Alert>
  );
}

/** That an operator lets nothing be changed, and why. */
export const ReadOnly = ({ reason }: { reason: string | undefined }) => reason && <Banner title={t.nav.readOnly}>{reason}</Banner>;
