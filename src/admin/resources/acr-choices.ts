// `required_acr` in words, as applications and APIs offer it.
import { ACR } from '../../clients/index.ts';

export const acrChoices = [
  { value: '', label: 'Whatever the account has' },
  { value: ACR.singleFactor, label: 'One factor' },
  { value: ACR.emailCode, label: 'Two steps (e-mail code is enough)' },
  { value: ACR.multiFactor, label: 'Two factors' },
];
