package telegram

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/mac"
)

// An action is the effect of a button. Sent messages contain the values of actions, so they must not change.
type action byte

const (
	choose   action = 'c' // option N is the answer to the question
	mark     action = 'm' // option N becomes one of the answers; a repeat changes nothing
	unmark   action = 'u' // option N is removed from the answers; a repeat changes nothing
	goTo     action = 'g' // show question N; the overview follows the last question
	leaveOut action = 'x' // leave the question without an answer
	submit   action = 's' // send the answers
	approve  action = 'a' //
	deny     action = 'd' //
	locate   action = 'l' // point to the message of the ask
	decline  action = 'e' // decline to answer all questions

	// In the next actions, the person writes a text as a reply to the message that asks for the text.
	writeOther  action = 'o'
	writeNotes  action = 'n'
	writeReason action = 'r'
	// the reason why the person declines to answer
	writeDecline action = 'w'
)

// A press is the content of a button or of a prompt. It contains everything that its action needs after a
// restart. The content is the state to set and not a change, so a press can be repeated.
type press struct {
	Action    action
	AskID     string
	MessageID int64 // id of the message about the ask
	Question  int
	Option    int
}

// codeLength is the number of bytes of the code that signs a press. 80 bits cannot be guessed over the
// network. They keep the data within the 64 bytes that Telegram allows.
const codeLength = 10

// errForged is returned for data that this program did not make for this chat.
var errForged = errors.New("the data was made for another chat or with another token")

// A signer signs the data of buttons. The key of the signer is the token of the bot. So buttons still work
// after a restart, but not with the token of another bot.
type signer struct{ key []byte }

func newSigner(token string) signer { return signer{[]byte(token)} }

// code returns the code that signs content in a chat.
func (s signer) code(chatID int64, content []byte) []byte {
	return mac.Sum(s.key, "telegram button", strconv.FormatInt(chatID, 10), string(content))[:codeLength]
}

// oldCode returns the code in the form of earlier releases. Buttons of these releases stay in chats while
// their asks are open, which may be weeks.
func (s signer) oldCode(chatID int64, content []byte) []byte {
	text := append(binary.BigEndian.AppendUint64(nil, uint64(chatID)), content...)
	return mac.Bare(mac.Bare(s.key, "askback: data of buttons"), string(text))[:codeLength]
}

// sign returns the data of p in a chat. The data has at most 64 characters: A-Z, a-z, 0-9, _ and -. These
// characters are also allowed in a link that starts the bot. If p.AskID is not a valid id, sign returns "".
func (s signer) sign(chatID int64, p press) string {
	id, ok := ids.Bytes(ids.Ask, p.AskID)
	if !ok {
		return ""
	}
	b := append([]byte{byte(p.Action)}, id[:]...)
	b = append(b, byte(p.Question), byte(p.Option))
	b = binary.AppendUvarint(b, uint64(p.MessageID))
	b = append(b, s.code(chatID, b)...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// fixedLength is the number of bytes of a press before the id of the message.
const fixedLength = 1 + 16 + 2

// verify returns the press in data from a chat, or errForged.
func (s signer) verify(chatID int64, data string) (press, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(data)
	if err != nil || len(b) < fixedLength+1+codeLength {
		return press{}, errForged
	}
	content, code := b[:len(b)-codeLength], b[len(b)-codeLength:]
	if !hmac.Equal(code, s.code(chatID, content)) && !hmac.Equal(code, s.oldCode(chatID, content)) {
		return press{}, errForged
	}
	n, length := binary.Uvarint(content[fixedLength:])
	if length != len(content)-fixedLength {
		return press{}, errForged
	}
	return press{
		Action: action(content[0]), AskID: ids.FromBytes(ids.Ask, [16]byte(content[1:17])), MessageID: int64(n),
		Question: int(content[17]), Option: int(content[18]),
	}, nil
}
