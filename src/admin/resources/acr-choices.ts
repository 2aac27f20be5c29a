// `required_acr` in words, as applications and APIs offer it.
import { settingRows } from '../../model/applications/settings.ts';
import { choicesOf } from './clients/form.ts';

export const acrChoices = choicesOf(settingRows.required_acr);
