// Synonym lines about text, documents, pictures, sound and video. Form and rules: search-synonyms.ts.
// Pure data.

export const MEDIA_LINES = `
# text and language
translate, translation, translator, machine translation, übersetzen, übersetzung, traducir, traducción, traduire, traduction, traduzir, tradução, tradurre, traduzione, перевод, перевести, 翻译, 翻訳, 互译, 번역
language detection, which language
spanish, español, spanisch, castellano
german, deutsch, alemán
french, français, francés, französisch
english, englisch, inglés, anglais, 英语, 英語
japanese, japanisch, japonés, 日本語, 日语
chinese, chinesisch, chino, mandarin, 中文, 汉语, 中国語
basque, euskera
localization, localisation, l10n, i18n
summarize, summary, summarise, tl;dr, tldr, condense, digest, bullet points, zusammenfassen, zusammenfassung, resumen, resumir, résumé de texte, 摘要, 总结, 要約, 요약
grammar, spelling, proofread, proofreading, spell check, rechtschreibung, ortografía
rewrite, paraphrase, rephrase, reword
sentiment analysis, text sentiment, emotion detection, opinion mining
classify, classification, categorize, label text, zero-shot
named entity, entities, ner, entity extraction, extract names
keyword, keywords
embedding, embeddings, vectorize, text vectors, sentence vectors
vector database, vector store, vector search, similarity search, nearest neighbour, nearest neighbor, knn, ann
rerank, reranking, relevance ordering
llm, language model, large language model, chat completion, chat completions, gpt, chatbot, chat model, chatgpt, openai, text generation, 大模型, 大语言模型, 大規模言語モデル
fine-tune, fine-tuning, finetune, lora
memory, remember, recall, long-term memory, agent memory, memorize, persistent memory
rag, retrieval, ask documents, question answering over documents
research, deep research, investigate, report with sources
question answering, answers, ask a question, answer engine
citation, citations, cited, quoted, sources, references
dictionary, definition, define, word meaning, thesaurus
encyclopedia, wikipedia
search, find, look up, suche, suchen, buscar, búsqueda, recherche, rechercher, ricerca, pesquisar, поиск, 搜索, 查询, 検索, 검색
convert, umrechnen, umwandeln, convertir, converter, convertire, конвертировать, 转换, 変換
recognize, recognise, recognition, identify, identification, erkennen, erkennung, reconnaître, reconocer, 識別, 识别, 認識
conversion, convert
description, describe
generate, create, erzeugen, erstellen, generar, crear, générer, créer, generare, gerar, создать, 生成
send, senden, versenden, enviar, envoyer, inviare, отправить, 发送, 送信
download, herunterladen, descargar, télécharger, 下载
history, verlauf, historial, historique, storico, история, 历史, 履歴
number, nummer, número, numéro, numero, номер, 号码, 番号
name, namen, nombre, nom, nome, имя, 名称, 名前
city, stadt, ciudad, ville, città, cidade, город, 城市, 都市
country, país, paese, страна, 国家
date, datum, fecha, дата, 日期, 日付
free, kostenlos, gratis, gratuit, бесплатно, 免费, 無料
text, texto, texte, testo, текст, 文本, テキスト, 文字

# documents
pdf, pdf file, acrobat
ocr, text recognition, read text, image to text, extract text from image, text from image, optical character recognition, texterkennung, reconocimiento de texto, reconnaissance de texte, 文字识别, 文字認識, 識別
scan, scanned, scanner > ocr
scanned document, scan, scanned page, photographed document
handwriting, handwritten, cursive
extract, extraction, parse, parsing, pull out, auslesen, extraer, extraire, 提取, 抽出
pdf to text, pdf2text, pdf text, extract text from pdf
markdown, md
document, documents, file, files, dokument, documento, 文档, 文書
convert file, file conversion, format conversion, change format
html to pdf, render pdf, web page to pdf
merge, combine, join, concat
fill form, form filling, pdf form
table, tables, spreadsheet, csv, xlsx, excel
sign, e-signature, esign, electronic signature, signature, unterschrift, firma electrónica
contract review, legal review, agreement check
template, generate document, document generation
resume, cv, curriculum vitae, lebenslauf
barcode, ean, upc, gtin
qr code, qr, qrcode, 二维码, qrコード

# pictures, sound, video
image, picture, photo, photograph, pic, bild, imagen, image, foto, immagine, изображение, картинка, 图片, 图像, 画像, 写真, 이미지
image generation, generate image, text to image, text-to-image, create picture, draw, ai art, txt2img, diffusion, painting, illustration, 生成图片, 绘画, 画像生成, 이미지 생성, bild erzeugen, generar imagen, crear imagen, générer une image
art, artwork, illustration, drawing
image editing, edit photo, inpainting, photo editor, retouch
upscale, enlarge, super resolution, enhance resolution, sharpen
background removal, remove background, cutout, transparent background, freistellen
caption image, image description, alt text, describe picture
visual question answering, ask about a picture, vision model, vlm
resize, crop, thumbnail, image conversion
logo, brand mark, brand assets
licence plate, license plate, number plate, alpr, anpr, kennzeichen
screenshot, screen shot, capture page, page image, website thumbnail, site preview, webpage picture
speech to text, speech-to-text, transcribe, transcription, transcript, asr, stt, voice to text, speech recognition, audio to text, dictation, dictate, spracherkennung, transkription, transkribieren, transcripción, transcribir, 语音识别, 音声認識, 文字起こし, 음성 인식
aloud > read aloud, text to speech
text to speech, text-to-speech, tts, speech synthesis, voice synthesis, read aloud, voice over, voice-over, narration, narrate, vorlesen, sprachausgabe, texto a voz, synthèse vocale, 语音合成, 音声合成, 음성 합성
voice, stimme, voz, voix, 声音, 音声, speech
voice cloning, clone voice, copy voice
dub, dubbing, voice translation, synchronisation
diarization, who said what, who spoke when, speaker separation, speaker labels
meeting, meetings, conference call, besprechung, reunión
audio, sound, recording, sound file, tonaufnahme, grabación, enregistrement, 录音, 録音
podcast, podcasts, episode
music, song, songs, tune, musik, música, musique, 音乐, 音楽, 歌曲
music generation, compose, jingle, background music, generate music
song recognition, identify song, music recognition, audio fingerprint, shazam
lyrics, song text, songtext, letra
stem separation, vocal remover, vocal isolation, isolate vocals, split a song, karaoke
video, clip, film, movie clip, footage, vídeo, 视频, 動画, 비디오
video generation, generate video, text to video, image to video, txt2vid, img2vid, animate, moving picture, video erzeugen, 生成视频
still image, still picture, still photo
video editing, edit video, cut video, trim video, transcoding, ffmpeg
avatar, talking head, presenter, lip sync
subtitle, subtitles, captions, srt, vtt, untertitel, subtítulos, sous-titres, 字幕
video download, download video
sign language
3d print, 3d printing, additive manufacturing
movie, film, tv show, series, cinema, película, 电影, 映画
game, games, gaming, spiel, juego, 游戏, ゲーム
chess, fen, chess engine, best move, stockfish
quiz, trivia
joke, humor, witz
horoscope, zodiac, astrology, star sign, tarot
`;
