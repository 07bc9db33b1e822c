import { Secret } from '../components/secret.tsx';
import { t } from '../text.ts';

export function BackupCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return <Secret title={t.account.codesTitle} hint={t.account.codesHint} secret={codes.join('\n')} onClose={onClose} />;
}
